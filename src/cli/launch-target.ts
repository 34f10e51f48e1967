import { hostKindOf } from '#http/site-hosts.ts'
import type { SiteRecord } from '#sites/model.ts'

import type { Invocation } from './command.ts'
import { CommandError } from './errors.ts'
import type { ServiceClient } from './service-client.ts'

/** How deep a look at stored mail goes. */
export const MAIL_DEPTHS = ['rows', 'objects', 'bytes'] as const
export type MailDepth = (typeof MAIL_DEPTHS)[number]

/** The site that the launch validation looks at, and how. */
export interface LaunchTarget extends Pick<Invocation, 'progress'> {
  readonly service: ServiceClient
  readonly site: Pick<SiteRecord, 'siteId' | 'domain' | 'adminDomain' | 'authDomain' | 'region'>
  /** Whose token the admin workflow uses. */
  readonly admin: string | undefined
  /** The operation to call; undefined for any that the site has. */
  readonly operation: string | undefined
  /** JSON text. */
  readonly payload: string
  readonly mail: MailDepth
}

/** The name under which a path is answered. */
export const hostOf = ({ site }: Pick<LaunchTarget, 'site'>, path: string): string =>
  hostKindOf(path)[0] === 'admin' ? (site.adminDomain ?? site.domain) : site.domain

/** Says what it saw, or throws what is wrong. */
export type LaunchStep = readonly [name: string, step: (target: LaunchTarget) => Promise<string>]

export const wrong = (message: string): CommandError => new CommandError(message)
