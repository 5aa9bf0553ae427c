// bcryptprimitives.dll for old versions of Wine: the one function that the standard library of Rust calls.

#include <windows.h>
#include <ntsecapi.h>

BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T len) {
  return RtlGenRandom(bytes, len);
}
