/* Rust's random numbers on Windows, for Debian 12's wine, which lacks this library. For packaging/test only. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) { return SystemFunction036(data, length); }
