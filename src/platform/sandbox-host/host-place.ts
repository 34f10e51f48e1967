/**
 * What a host is for. `ordinary` ones run the sites whose calls are short, `apart` those that take a little longer, `long`
 * those for which nobody else should wait, `quarantine` those that brought a host down; a `spare` takes the place of one
 * that is lost, and calls of ordinary sites whose own worker is stuck.
 */
export type HostRole = 'ordinary' | 'apart' | 'long' | 'quarantine' | 'spare'
/** Hosts that are started when they are needed, and end when they are not. */
export type RoleOnDemand = 'long' | 'quarantine'

export interface HostPlace {
  readonly role: HostRole
  /** Among the hosts of its role. */
  readonly index: number
}
