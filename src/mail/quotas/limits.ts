import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** What all mailboxes of a site hold together, at most. */
export interface MailLimits {
  readonly mailBytes: number
  readonly mailMessages: number
}

/** Where the operator says nothing else about a site. */
export const DEFAULT_MAIL_LIMITS: MailLimits = {
  mailBytes: 10 * 1024 ** 3,
  mailMessages: 1_000_000,
}

const StoredLimits = Type.Object({
  limits: Type.Object({
    mailBytes: Type.Optional(Type.Integer()),
    mailMessages: Type.Optional(Type.Integer()),
  }),
})

/** From a site's stored deployment settings. */
export function mailLimits(deploymentSettings: unknown): MailLimits {
  if (!Value.Check(StoredLimits, deploymentSettings)) return DEFAULT_MAIL_LIMITS
  const { mailBytes, mailMessages } = deploymentSettings.limits
  return {
    mailBytes: mailBytes ?? DEFAULT_MAIL_LIMITS.mailBytes,
    mailMessages: mailMessages ?? DEFAULT_MAIL_LIMITS.mailMessages,
  }
}
