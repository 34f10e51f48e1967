import { vi } from 'vitest'

import type { AuthEmail } from '#identity/auth-emails/auth-email.ts'
import type { CapturedMessage } from '#platform/smtp/outbox.ts'

import type { Front } from './front.ts'

/** The job of a worker that was killed is found after ten seconds of silence, and tried again later. */
const PATIENCE = { timeout: 50_000, interval: 25 }

/** Waits for mail to an address and gives the newest; `after` waits for a newer one than that. */
export async function mailTo(
  stack: Pick<Front, 'portal'>,
  address: string,
  kind?: AuthEmail['kind'],
  after?: CapturedMessage,
): Promise<CapturedMessage> {
  return vi.waitUntil(async () => {
    const [newest] = await allMailTo(stack, address, kind)
    return newest?.messageId === after?.messageId ? undefined : newest
  }, PATIENCE)
}

/** What has arrived by now, newest first. */
export async function allMailTo(
  stack: Pick<Front, 'portal'>,
  address: string,
  kind?: AuthEmail['kind'],
): Promise<CapturedMessage[]> {
  const answer = await stack.portal('GET', `/outbox?limit=100&to=${encodeURIComponent(address)}`)
  if (answer.status !== 200) throw new Error(`The outbox answered ${answer.status}: ${answer.text}`)
  const { items } = answer.json as { items: CapturedMessage[] }
  return items.filter((message) => kind === undefined || message.kind === kind)
}

/** The six digits of a mailed code. */
export function codeIn(message: CapturedMessage): string {
  return found(message, /(?<!\d)\d{6}(?!\d)/)
}

/** The first address that a message links to. */
export function linkIn(message: CapturedMessage): string {
  return found(message, /https?:\/\/[^\s<>"]+/)
}

function found({ kind, text }: CapturedMessage, pattern: RegExp): string {
  const match = pattern.exec(text)?.[0]
  if (match === undefined) throw new Error(`No ${pattern} in the ${kind} message:\n${text}`)
  return match
}
