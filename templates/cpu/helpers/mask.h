// needs: core
HELPER vi every_lane(bool a) { return vi{} - (int)a; }  // true is -1 in a vector, 1 in a scalar
HELPER vi every_lane(vi a) { return a; }
