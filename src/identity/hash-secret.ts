import { createHash } from 'node:crypto'

/** What is stored of a token or code that has 256 random bits, and so needs no salt. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest()
