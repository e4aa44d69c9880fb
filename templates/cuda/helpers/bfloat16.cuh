// In memory only: arithmetic is done in float.
struct bfloat16 {
  unsigned short bits;
};
