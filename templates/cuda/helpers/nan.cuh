#define NAN __int_as_float(0x7fffffff)
