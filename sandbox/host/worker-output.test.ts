import { describe, expect, test } from 'vitest'

import { WorkerOutput } from './worker-output.ts'

const MEBI = 1024 * 1024

/** The lengths of the frames that the outbox sends by itself. */
function sentBy(tell: (outbox: WorkerOutput) => void): number[] {
  const lengths: number[] = []
  tell(new WorkerOutput((text) => lengths.push(text.length)))
  return lengths
}

describe('an outbox', () => {
  const text = 'x'.repeat(MEBI)

  test.each([
    ['results', (outbox: WorkerOutput) => outbox.result(1, 0, text)],
    ['questions', (outbox: WorkerOutput) => outbox.hostCall(1, 1, ['fetch', text])],
    ['lines', (outbox: WorkerOutput) => outbox.log([1, 1, 0], text)],
    [
      'failures',
      (outbox: WorkerOutput) => outbox.failure(1, 0, { kind: 'invalidResult', message: text }),
    ],
  ])('sends many %s without waiting for the rest', (_, tell) => {
    const lengths = sentBy((outbox) => {
      for (let count = 0; count < 40; count += 1) tell(outbox)
    })
    expect(lengths).toHaveLength(2)
    for (const length of lengths) expect(length).toBeLessThan(17 * MEBI)
  })

  test('keeps a little until it is flushed', () => {
    expect(sentBy((outbox) => outbox.result(1, 0, 'x'))).toEqual([])
  })
})
