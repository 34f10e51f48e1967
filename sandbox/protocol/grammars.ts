import type { FromGuest, FromWorker, ToGuest, ToWorker } from './protocol.ts'
import { Grammar } from './records.ts'

/** How each kind of record is written: its letter, and how many numbers and texts it has. */
export const TO_WORKER = new Grammar<ToWorker>({
  batch: ['Q', 1, 0],
  defineSlot: ['L', 1, 1],
  forgetSlot: ['D', 1, 0],
  section: ['S', 1, 1],
  answer: ['A', 2, 1],
  abort: ['X', 1, 0],
  end: ['E', 1, 0],
})
export const FROM_WORKER = new Grammar<FromWorker>({
  hello: ['W', 0, 1],
  acknowledge: ['A', 1, 0],
  withdrawn: ['B', 1, 0],
  result: ['R', 2, 1],
  answered: ['E', 2, 1],
  used: ['U', 2, 0],
  failure: ['F', 2, 1],
  hostCall: ['H', 2, 2],
  cancel: ['X', 1, 0],
  log: ['G', 4, 1],
  crowded: ['C', 1, 1],
  warmIsolates: ['M', 1, 0],
})
export const TO_GUEST = new Grammar<ToGuest>({
  call: ['C', 2, 4],
  answer: ['A', 2, 1],
  cancel: ['D', 1, 0],
  abort: ['X', 1, 0],
})
export const FROM_GUEST = new Grammar<FromGuest>({
  state: ['K', 2, 0],
  result: ['R', 1, 1],
  answered: ['E', 1, 1],
  thrown: ['T', 2, 3],
  invalidResult: ['I', 1, 1],
  invalidBody: ['B', 1, 1],
  mismatch: ['P', 2, 1],
  oversized: ['Z', 2, 0],
  hostCall: ['H', 2, 2],
  left: ['Y', 1, 0],
  log: ['G', 2, 1],
  nextTimer: ['N', 1, 0],
  loaded: ['O', 0, 0],
  unusable: ['U', 0, 0],
})
