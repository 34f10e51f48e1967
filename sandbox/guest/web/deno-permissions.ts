import { EventTarget } from './event-target.ts'
import { defineProperty, PromiseClass, reflectGet, toText } from './primordials.ts'

/** What a function has; `read` and `net` only of its own files and of the hosts that its site may ask. */
const STATES: Readonly<Record<string, 'granted' | 'denied'>> = {
  read: 'granted',
  write: 'denied',
  net: 'granted',
  env: 'granted',
  sys: 'denied',
  run: 'denied',
  ffi: 'denied',
  import: 'denied',
}

/** https://w3c.github.io/permissions/#permissionstatus-interface */
export class PermissionStatus extends EventTarget {
  declare readonly state: string

  constructor(state: string) {
    super()
    defineProperty(this, 'state', { value: state, enumerable: true, configurable: true })
    defineProperty(this, 'onchange', {
      value: null,
      writable: true,
      enumerable: true,
      configurable: true,
    })
  }
}

const statusOf = (descriptor: unknown): PermissionStatus => {
  const name =
    typeof descriptor === 'object' && descriptor !== null
      ? toText(reflectGet(descriptor, 'name'))
      : toText(descriptor)
  const state = Object.hasOwn(STATES, name) ? STATES[name] : undefined
  if (state === undefined)
    throw new TypeError(`The provided value "${name}" is not a valid permission name`)
  return new PermissionStatus(state)
}

const promised = (descriptor: unknown): Promise<PermissionStatus> =>
  new PromiseClass((resolve) => resolve(statusOf(descriptor)))

/** Nothing can be asked for or given up while a function runs: all of these only tell. */
export const permissions = Object.freeze({
  query: promised,
  querySync: statusOf,
  request: promised,
  requestSync: statusOf,
  revoke: promised,
  revokeSync: statusOf,
})
