/** Bytes that one operation may be given, all together. */
export const MAX_CRYPTO_BYTES = 16 * 1024 * 1024
/** Of an RSA key: below it nothing is safe any more, above it one operation takes too long. */
export const MIN_RSA_BITS = 1024
export const MAX_RSA_BITS = 4096
/** A key in DER: of RSA with 4096 bits there are 2.4 KB. */
export const MAX_KEY_BYTES = 4096
/** PBKDF2: iterations times the blocks of the hash that are derived. */
export const MAX_PBKDF2_ROUNDS = 5_000_000
/** Password, salt and info of a derivation, and what it may give. */
export const MAX_DERIVATION_BYTES = 64 * 1024
/** Rounds of PBKDF2 that are done at once, in a few milliseconds; what takes more is done beside the isolates. */
export const QUICK_ROUNDS = 20_000
/** Long operations that one site may have waiting; one runs at a time. */
export const MAX_WAITING_OF_SITE = 64
/** Long operations that run at the same time in one process. */
export const MAX_RUNNING = 2
/** Keys that are kept parsed in one process. */
export const MAX_PARSED_KEYS = 256
