// needs: core lanes
HELPER float fmod(float a, float b) { return __builtin_fmodf(a, b); }
HELPER double fmod(double a, double b) { return __builtin_fmod(a, b); }
HELPER vf fmod(vf a, vf b) { return by_lanes([](float x, float y) { return fmod(x, y); }, a, b); }
