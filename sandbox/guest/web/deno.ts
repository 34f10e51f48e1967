import { denoServe } from './deno-serve.ts'
import { host } from './host.ts'
import { defineOperation } from './interface.ts'
import { hasOwn } from './primordials.ts'

const READ_ONLY =
  'The environment is read-only here: set the variable in the site configuration instead.'

const env = {
  get: (name: string): string | undefined =>
    hasOwn(host.env, `${name}`) ? host.env[`${name}`] : undefined,
  has: (name: string): boolean => hasOwn(host.env, `${name}`),
  toObject: (): Record<string, string> => ({ ...host.env }),
  set: (): never => {
    throw new TypeError(READ_ONLY)
  },
  delete: (): never => {
    throw new TypeError(READ_ONLY)
  },
}

const present = Object.freeze({
  env: Object.freeze(env),
  args: Object.freeze([]),
  build: Object.freeze({
    target: 'unknown-unknown-linux-gnu',
    arch: 'unknown',
    os: 'linux',
    vendor: 'croft',
    standalone: false,
  }),
  noColor: true,
  serve: defineOperation('serve', 1, denoServe),
  version: Object.freeze({ deno: '0.0.0', v8: '0.0.0', typescript: '0.0.0' }),
})

/** The part of Deno that site code may use. Anything else says that it is not there when it is read. */
export const Deno: object = new Proxy(present, {
  get(target, key): unknown {
    if (key in target || typeof key === 'symbol' || key === 'then') return Reflect.get(target, key)
    throw new Error(
      `Deno.${key} is not available here: there are Deno.${Object.keys(target).join(', Deno.')}.`,
    )
  },
})
