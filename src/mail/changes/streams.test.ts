import { describe, expect, test } from 'vitest'

import { MailboxStreams, concerns } from './streams.ts'

type Listener = Parameters<Parameters<MailboxStreams['listen']>[0]['listen']>[1]

/** Streams, and what Postgres would tell them. */
async function heard(heartbeatMs = 60_000) {
  const streams = new MailboxStreams(heartbeatMs)
  const listeners: Listener[] = []
  await streams.listen({
    listen: async (_channel, handlers) => {
      listeners.push(handlers as Listener)
    },
  })
  const [listener] = listeners
  if (!listener) throw new Error('no client listens')
  return { streams, listener }
}

const change = (siteId: string, mailboxId: string) => ({ siteId, mailboxId })

describe('a stream of changes', () => {
  test('brings what happened between two looks once, and nothing of other sites', async () => {
    const { streams, listener } = await heard()
    const following = streams.follow('one', new AbortController().signal)
    listener.onMessage(change('one', 'a'))
    listener.onMessage(change('two', 'x'))
    listener.onMessage(change('one', 'b'))
    listener.onMessage(change('one', 'a'))
    const { value } = await following.next()
    expect([...(value ?? [])]).toEqual(['a', 'b'])
    await following.return()
  })

  test('says that anything may have changed after notifications were lost', async () => {
    const { streams, listener } = await heard()
    const following = streams.follow('one', new AbortController().signal)
    listener.onGap?.()
    const { value } = await following.next()
    expect(concerns(value ?? new Set(), 'whichever')).toBe(true)
    expect(concerns(new Set(['a']), 'b')).toBe(false)
    await following.return()
  })

  test('gives a sign of life where nothing changes', async () => {
    const { streams } = await heard(1)
    const following = streams.follow('one', new AbortController().signal)
    expect((await following.next()).value).toEqual(new Set())
    await following.return()
  })

  test('ends with its signal and when the service drains', async () => {
    const { streams } = await heard()
    const leaving = new AbortController()
    const [left, drained] = [leaving.signal, new AbortController().signal].map((signal) =>
      streams.follow('one', signal).next(),
    )
    leaving.abort()
    expect(await left).toMatchObject({ done: true })
    streams.endStreams()
    expect(await drained).toMatchObject({ done: true })
  })

  test('is refused beyond the twentieth of a site, and free again when one ends', async () => {
    const { streams } = await heard()
    const signal = new AbortController().signal
    const open = Array.from({ length: 20 }, () => streams.follow('one', signal))
    expect(() => streams.follow('one', signal)).toThrow(/20 streams of changes/)
    streams.follow('two', signal)
    const ending = open[0]?.next()
    streams.endStreams()
    await ending
    expect(await streams.follow('one', signal).next()).toMatchObject({ done: true })
  })
})
