/**
 * What a host is for. `ordinary` ones run the sites whose calls are short, `apart` those that take a little longer, `long` those
 * that no other site should wait for, `quarantine` those that brought a host down; `load` sees whether new code loads, so that no
 * call meets it; a `spare` takes the place of one that is lost, and calls of ordinary sites whose own worker is stuck. Each but
 * the first ordinary one is started when it is needed, and ends when it is not.
 */
export const HOST_ROLES = ['ordinary', 'apart', 'long', 'quarantine', 'load', 'spare'] as const
export type HostRole = (typeof HOST_ROLES)[number]
/** Hosts for which their sites wait, and which leave the processor to the others. */
export type YieldingRole = 'long' | 'quarantine' | 'load'

export const yields = (role: HostRole): role is YieldingRole =>
  role === 'long' || role === 'quarantine' || role === 'load'

export interface SlotKey {
  readonly role: HostRole
  /** Among the hosts of its role. */
  readonly index: number
}
