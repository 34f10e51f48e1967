import type { Stack } from './stack.ts'

/** An installation as those see it who have only its addresses: a stack, a process, or whoever answers at the moment. */
export type Front = Pick<Stack, 'call' | 'portal' | 'baseUrl'>
