import type { Logger as PinoLogger } from 'pino'

/** Fields, not sentences; never a body, a token or an address list. */
export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'child'>
