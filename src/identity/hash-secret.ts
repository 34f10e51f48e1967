import { createHash } from 'node:crypto'

/** What is stored of a session's token, a code or a refresh token: each is 256 random bits, so that no salt is needed. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest()
