import { expect, test } from 'vitest'

import { AnswerQueue } from './answer-queue.ts'
import { pendingCall, programOf } from './testing/pending-call.ts'

const askerOf = (siteId: string, resumeMs: number) =>
  pendingCall(1, { program: programOf(siteId), resumeMs })

function queueOf(
  ...sites: readonly (readonly [site: string, answers: number, resumeMs: number])[]
) {
  const queue = new AnswerQueue()
  for (const [site, answers, resumeMs] of sites) {
    const asker = askerOf(site, resumeMs)
    for (let hostCall = 1; hostCall <= answers; hostCall += 1)
      queue.push({ hostCall, ok: true, text: '', asker, onSent() {} })
  }
  return queue
}

const frameOf = (queue: AnswerQueue) =>
  queue.takeFrame().map(({ hostCall, asker }) => `${asker.queueKey}${hostCall}`)

test('answers of sites take turns, each in its order', () => {
  const queue = queueOf(['a', 4, 0.01], ['b', 2, 0.01])
  expect(frameOf(queue)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4'])
  expect(queue.isEmpty).toBe(true)
})

test('a frame ends where what it resumes would take long, and the next begins with the other site', () => {
  const queue = queueOf(['slow', 3, 6], ['quick', 2, 0.1])
  const frames = Array.from({ length: 5 }, () => frameOf(queue))
  expect(frames).toEqual([['slow1'], ['quick1'], ['slow2'], ['quick2'], ['slow3']])
})

test('an answer whose call takes longer than a frame has one of its own', () => {
  const queue = queueOf(['long', 2, 50])
  expect([frameOf(queue), frameOf(queue), frameOf(queue)]).toEqual([['long1'], ['long2'], []])
})

test('what waits for a worker that is gone is taken out', () => {
  const queue = queueOf(['a', 2, 1], ['b', 1, 1])
  expect(queue.drain()).toHaveLength(3)
  expect([queue.isEmpty, frameOf(queue)]).toEqual([true, []])
})

test('a frame has few parts of streams, which the service itself passes on, and the rest of what waits', () => {
  const queue = queueOf(['streams', 5, 0.05], ['calls', 2, 0.05])
  for (const answer of queue.drain()) {
    const partMs = answer.asker.queueKey === 'streams' ? 0.4 : 0
    queue.push({ ...answer, asker: { ...answer.asker, partMs } })
  }
  expect([frameOf(queue), frameOf(queue)]).toEqual([
    ['streams1', 'calls1', 'streams2', 'calls2'],
    ['streams3', 'streams4'],
  ])
})
