/** A longer conversation is not moved into another: one message cannot cause a million to be rewritten. */
export const MAX_MOVED = 1000

/** A conversation of a mailbox, as far as it concerns those that it may join. */
export interface KnownConversation {
  readonly threadId: string
  /** When its first message came; null when all of them are gone. */
  readonly since: Date | null
  /** Messages, counted up to one more than may be moved. */
  readonly size: number
}

/** A message, its own conversation, and by which ids it is found: in hexadecimal. */
export interface JoiningMessage {
  readonly messageId: string
  readonly threadId: string
  readonly receivedAt: Date
  readonly references: readonly string[]
}

/**
 * The conversations of one mailbox while messages join them, one after the other. Those that a message names become one, the
 * oldest. What was read of them before is kept up with, so that many messages join at the price of one.
 */
export class Conversations {
  /** By reference. */
  readonly #threads = new Map<string, string>()
  readonly #known = new Map<string, KnownConversation>()
  /** Where those went that are no more. */
  readonly #merged = new Map<string, string>()
  readonly #messages = new Map<string, string>()
  readonly #added = new Set<string>()

  /** One of those that a message may name. */
  note(reference: string, conversation: KnownConversation): void {
    this.#threads.set(reference, conversation.threadId)
    this.#known.set(conversation.threadId, conversation)
  }

  join(message: JoiningMessage): void {
    const { messageId, threadId, references } = message
    const found = references.flatMap((reference) => this.#find(reference) ?? [])
    const [first, ...others] = [...new Set(found)].toSorted(olderFirst)
    const into = first?.threadId ?? threadId
    if (references.length > 0) this.#grow(into, message)
    for (const other of others) if (other.size <= MAX_MOVED) this.#move(other, into)
    this.#messages.set(messageId, into)
    for (const reference of references) {
      if (this.#threads.has(reference)) continue
      this.#threads.set(reference, into)
      this.#added.add(reference)
    }
  }

  /** The conversation that a message is in, now that all have joined. */
  of(messageId: string): string | undefined {
    const threadId = this.#messages.get(messageId)
    return threadId === undefined ? undefined : this.#end(threadId)
  }

  /** Those that became part of another. */
  get merged(): ReadonlyMap<string, string> {
    return new Map([...this.#merged.keys()].map((from) => [from, this.#end(from)]))
  }

  /** References that are new. */
  get added(): ReadonlyMap<string, string> {
    return new Map(
      [...this.#added].map((reference) => [
        reference,
        this.#end(this.#threads.get(reference) ?? ''),
      ]),
    )
  }

  #find(reference: string): KnownConversation | undefined {
    const threadId = this.#threads.get(reference)
    return threadId === undefined ? undefined : this.#known.get(this.#end(threadId))
  }

  #end(threadId: string): string {
    let end = threadId
    for (let next = this.#merged.get(end); next !== undefined; next = this.#merged.get(end)) {
      end = next
    }
    return end
  }

  #grow(into: string, { threadId, receivedAt }: JoiningMessage): void {
    const known = this.#known.get(into)
    const since = known?.since ?? receivedAt
    this.#known.set(into, {
      threadId: into,
      since: since < receivedAt ? since : receivedAt,
      size: known === undefined ? 1 : known.size + (threadId === into ? 0 : 1),
    })
  }

  #move(from: KnownConversation, into: string): void {
    const known = this.#known.get(into)
    if (known) this.#known.set(into, { ...known, size: known.size + from.size })
    this.#merged.set(from.threadId, into)
  }
}

/** Those without a message last. */
function olderFirst(one: KnownConversation, other: KnownConversation): number {
  const [a, b] = [one, other].map(({ since }) => since?.getTime() ?? Infinity)
  if (a !== b && a !== undefined && b !== undefined) return a < b ? -1 : 1
  return one.threadId < other.threadId ? -1 : 1
}
