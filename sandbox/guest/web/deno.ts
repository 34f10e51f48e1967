import { denoErrors } from './deno-errors.ts'
import { denoFiles } from './deno-files.ts'
import { permissions, PermissionStatus } from './deno-permissions.ts'
import { notCapable, refusals } from './deno-refusals.ts'
import { denoServe } from './deno-serve.ts'
import { outputOf, stdin } from './deno-stdio.ts'
import { host } from './host.ts'
import { denoInspect } from './inspect.ts'
import { defineOperation } from './interface.ts'
import { urlOfFile } from './paths.ts'
import { hasOwn, PromiseClass, toText } from './primordials.ts'

const env = {
  get: (name: string): string | undefined =>
    hasOwn(host.env, `${name}`) ? host.env[`${name}`] : undefined,
  toObject: (): Record<string, string> => ({ ...host.env }),
  set: (name: string): never => {
    throw notCapable('env', name)
  },
  has: (name: string): boolean => hasOwn(host.env, `${name}`),
  delete: (name: string): never => {
    throw notCapable('env', name)
  },
}

/** Starting it is what is refused, as in Deno. */
class Command {
  readonly #file: string

  constructor(command: unknown) {
    this.#file = toText(command)
  }

  spawn(): never {
    throw notCapable('run', this.#file)
  }

  outputSync(): never {
    throw notCapable('run', this.#file)
  }

  output(): Promise<never> {
    return new PromiseClass((_resolve, reject) => reject(notCapable('run', this.#file)))
  }
}

const nothing = (): void => {}

/**
 * The part of Deno that a function has. What needs a permission that it does not have is there and refuses by name, as
 * `deno run` does; what Deno itself does not have is undefined.
 */
export const Deno: object = {
  ...refusals(),
  ...denoFiles,
  args: Object.freeze([]),
  build: Object.freeze({
    target: 'x86_64-unknown-linux-gnu',
    arch: 'x86_64',
    os: 'linux',
    vendor: 'unknown',
    env: 'gnu',
    standalone: false,
  }),
  env: Object.freeze(env),
  errors: Object.freeze(denoErrors),
  inspect: defineOperation('inspect', 1, denoInspect),
  noColor: true,
  permissions,
  PermissionStatus,
  pid: 1,
  ppid: 0,
  serve: defineOperation('serve', 1, denoServe),
  stderr: outputOf('error'),
  stdin,
  stdout: outputOf('info'),
  version: Object.freeze({ deno: '2.9.6', v8: '13.6.233', typescript: '6.0.3' }),
  Command,
  exit: defineOperation('exit', 1, (code: unknown = 0): never => {
    throw notCapable('run', `exit(${toText(code)})`)
  }),
  get mainModule(): string {
    return urlOfFile(host.entry)
  },
  // A function hears no signal, and its timers keep nothing alive.
  addSignalListener: defineOperation('addSignalListener', 2, nothing),
  removeSignalListener: defineOperation('removeSignalListener', 2, nothing),
  refTimer: defineOperation('refTimer', 1, nothing),
  unrefTimer: defineOperation('unrefTimer', 1, nothing),
  // As under `deno run`, where tests and benchmarks that a module has are not run.
  test: defineOperation('test', 1, nothing),
  bench: defineOperation('bench', 1, nothing),
}
