import { describe, expect, test } from 'vitest'

import { Conversations, MAX_MOVED } from './conversations.ts'

const at = (minute: number): Date => new Date(Date.UTC(2026, 10, 28, 12, minute))

/** A message that is known by its own id, and names others. */
const message = (id: string, minute: number, ...names: readonly string[]) => ({
  messageId: id,
  threadId: id,
  receivedAt: at(minute),
  references: [id, ...names],
})

const known = (threadId: string, minute: number, size = 1) => ({
  threadId,
  since: at(minute),
  size,
})

describe('messages that join conversations', () => {
  test('begin their own when they name no known message', () => {
    const conversations = new Conversations()
    conversations.join(message('a', 1))
    conversations.join(message('b', 2))
    expect(conversations.of('a')).toBe('a')
    expect(conversations.of('b')).toBe('b')
    expect([...conversations.added]).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ])
    expect(conversations.merged.size).toBe(0)
  })

  test('join that of a message that they name, and one that came right before', () => {
    const conversations = new Conversations()
    conversations.note('old', known('thread', 0))
    conversations.join(message('a', 1, 'old'))
    conversations.join(message('b', 2, 'a'))
    expect(conversations.of('a')).toBe('thread')
    expect(conversations.of('b')).toBe('thread')
    expect([...conversations.added]).toEqual([
      ['a', 'thread'],
      ['b', 'thread'],
    ])
  })

  test('are joined by those that they name and that come later', () => {
    const conversations = new Conversations()
    conversations.join(message('answer', 2, 'question'))
    conversations.join(message('question', 1))
    expect(conversations.of('question')).toBe('answer')
  })

  test('bring conversations together in the oldest, one after the other', () => {
    const conversations = new Conversations()
    conversations.note('one', known('first', 5))
    conversations.note('two', known('second', 3))
    conversations.note('three', known('third', 1))
    conversations.join(message('a', 6, 'one', 'two'))
    conversations.join(message('b', 7, 'a', 'three'))
    expect(conversations.of('a')).toBe('third')
    expect(conversations.of('b')).toBe('third')
    expect(Object.fromEntries(conversations.merged)).toEqual({ first: 'third', second: 'third' })
    expect([...conversations.added]).toEqual([
      ['a', 'third'],
      ['b', 'third'],
    ])
  })

  test('bring together those that began among them', () => {
    const conversations = new Conversations()
    conversations.join(message('late', 4))
    conversations.join(message('early', 2))
    conversations.join(message('both', 5, 'late', 'early'))
    for (const id of ['late', 'early', 'both']) expect(conversations.of(id)).toBe('early')
    expect(Object.fromEntries(conversations.merged)).toEqual({ late: 'early' })
  })

  test('move no conversation that is longer than may be moved', () => {
    const conversations = new Conversations()
    conversations.note('one', known('first', 1, 5))
    conversations.note('two', known('second', 2, MAX_MOVED + 1))
    conversations.note('three', known('third', 3, MAX_MOVED))
    conversations.join(message('a', 4, 'one', 'two', 'three'))
    expect(conversations.of('a')).toBe('first')
    expect(Object.fromEntries(conversations.merged)).toEqual({ third: 'first' })
  })

  test('count what they have moved', () => {
    const conversations = new Conversations()
    conversations.note('one', known('first', 2, MAX_MOVED))
    conversations.note('two', known('second', 3, MAX_MOVED))
    conversations.note('three', known('third', 1))
    conversations.join(message('a', 4, 'one', 'two'))
    conversations.join(message('b', 5, 'a', 'three'))
    expect(conversations.of('a')).toBe('first')
    expect(conversations.of('b')).toBe('third')
  })

  test('prefer one that has messages to one that has none left', () => {
    const conversations = new Conversations()
    conversations.note('one', { threadId: 'a-purged', since: null, size: 0 })
    conversations.note('two', known('lives', 1))
    conversations.join(message('a', 2, 'one', 'two'))
    expect(conversations.of('a')).toBe('lives')
  })

  test('stay where they are when they name nothing, themselves included', () => {
    const conversations = new Conversations()
    const nameless = { ...message('a', 1), references: [] }
    conversations.join(nameless)
    conversations.join({ ...nameless, messageId: 'b', threadId: 'b' })
    expect(conversations.of('a')).toBe('a')
    expect(conversations.of('b')).toBe('b')
    expect(conversations.added.size).toBe(0)
  })

  test('may do so twice', () => {
    const conversations = new Conversations()
    conversations.note('a', known('thread', 0, 2))
    conversations.join({ ...message('a', 1), threadId: 'thread' })
    conversations.join({ ...message('a', 1), threadId: 'thread' })
    expect(conversations.of('a')).toBe('thread')
    expect(conversations.added.size).toBe(0)
    expect(conversations.merged.size).toBe(0)
  })
})
