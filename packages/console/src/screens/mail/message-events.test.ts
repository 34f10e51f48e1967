import { expect, test } from 'vitest'

import { eventNames } from './message-events.ts'

test('reads the events of a stream that comes in pieces', async () => {
  const pieces = [
    ': open\n\nev',
    'ent: change\ndata: {"mailbox":"a@b.test"}\n\n',
    'event: change\r\n',
  ]
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      controller.close()
    },
  })
  const names = await Array.fromAsync(eventNames(new Response(body)))
  expect(names).toEqual(['change', 'change'])
})
