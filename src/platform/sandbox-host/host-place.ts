/**
 * What a host is for. `ordinary` ones run the sites whose calls are short, `apart` those that take a little longer, `long`
 * those for which nobody else should wait, `quarantine` those that brought a host down; `load` sees whether new code
 * loads, so that no call meets it; a `spare` takes the place of one that is lost, and calls of ordinary sites whose own
 * worker is stuck.
 */
export const HOST_ROLES = ['ordinary', 'apart', 'long', 'quarantine', 'load', 'spare'] as const
export type HostRole = (typeof HOST_ROLES)[number]
/** Hosts that are started when they are needed, and end when they are not. */
export type RoleOnDemand = 'long' | 'quarantine' | 'load'

export const isOnDemand = (role: HostRole): role is RoleOnDemand =>
  role === 'long' || role === 'quarantine' || role === 'load'

export interface HostPlace {
  readonly role: HostRole
  /** Among the hosts of its role. */
  readonly index: number
}
