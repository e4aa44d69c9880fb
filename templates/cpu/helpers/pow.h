// needs: core lanes
HELPER float pow(float a, float b) { return __builtin_powf(a, b); }
HELPER double pow(double a, double b) { return __builtin_pow(a, b); }
HELPER vf pow(vf a, vf b) { return by_lanes([](float x, float y) { return pow(x, y); }, a, b); }
