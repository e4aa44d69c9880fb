// In memory only: arithmetic is done in float.
struct float16 {
  unsigned short bits;
};
