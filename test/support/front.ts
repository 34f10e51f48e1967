import type { Stack } from './stack.ts'

/** An installation that a test knows by its addresses only: a stack, a process, or the one that answers at the moment. */
export type Front = Pick<Stack, 'call' | 'portal' | 'baseUrl'>
