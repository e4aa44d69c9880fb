// One translation unit: starting g++ six times takes longer than compiling everything.
#include "collectives.cpp"
#include "errors.cpp"
#include "fiber.cpp"
#include "hooks.cpp"
#include "memory.cpp"
#include "scheduler.cpp"
#include "shadow.cpp"
