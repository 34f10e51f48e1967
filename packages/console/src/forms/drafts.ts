const STORED = 'croft-drafts'

type Draft = Readonly<Record<string, unknown>>

/** What was typed and not sent, by the name of the form and the path of its screen. */
const drafts = new Map<string, Draft>()

/** Forms on show with input that was not sent. */
const unsent = new Map<string, () => Draft>()

/** Takes the draft of a form out. */
export function takeDraft(key: string): Draft | undefined {
  const draft = drafts.get(key)
  drafts.delete(key)
  return draft
}

/** The form has input that was not sent; `read` gives what may be kept, without secrets. */
export function markUnsent(key: string, read: () => Draft): void {
  unsent.set(key, read)
}

export function markSent(key: string): void {
  unsent.delete(key)
}

/** The form goes from the page: what was typed is there when it comes back. */
export function keepDraft(key: string): void {
  const read = unsent.get(key)
  if (read) drafts.set(key, read())
  unsent.delete(key)
}

/** Before the tab goes to sign in and comes back: keeps the drafts in the tab. */
export function storeDrafts(storage: Pick<Storage, 'setItem'>): void {
  const kept = [...drafts, ...[...unsent].map(([key, read]) => [key, read()] as const)]
  storage.setItem(STORED, JSON.stringify(kept))
  unsent.clear()
}

/** After the return: takes them out of the tab. */
export function restoreDrafts(storage: Pick<Storage, 'getItem' | 'removeItem'>): void {
  const stored = storage.getItem(STORED)
  storage.removeItem(STORED)
  const kept: unknown = JSON.parse(stored ?? '[]')
  for (const entry of Array.isArray(kept) ? kept : []) {
    if (Array.isArray(entry) && typeof entry[0] === 'string') drafts.set(entry[0], Object(entry[1]))
  }
}

/** Asks before a reload or the end of the tab where input would be lost. */
export function warnBeforeLoss(): void {
  addEventListener('beforeunload', (event) => {
    if (unsent.size > 0 || drafts.size > 0) event.preventDefault()
  })
}
