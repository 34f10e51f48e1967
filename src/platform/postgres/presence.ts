import { randomInt } from 'node:crypto'

/** Where advisory locks of presence are among those of the database: `crof`. */
export const PRESENCE_LOCK = 0x63_72_6f_66
const LARGEST = 2 ** 31

/**
 * A name for this process that the database can tell to be alive: sessions begun with `presenceOf` hold a lock by it, and a
 * session ends with the process. What such a session claims from a queue carries the name.
 */
export const newHolder = (): number => randomInt(1, LARGEST)

/** The statement that a session begins with. Shared, so that it waits for no lock. */
export const presenceOf = (holder: number): string =>
  `select pg_advisory_lock_shared(${PRESENCE_LOCK}, ${holder}), set_config('croft.holder', '${holder}', false)`
