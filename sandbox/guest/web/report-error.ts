import { host } from './host.ts'
import { inspect } from './inspect.ts'

let dispatchError: (error: unknown) => boolean = () => false

/** Set by global-events.ts: whether a listener of the global `error` event took the error. */
export function provideErrorDispatch(dispatch: (error: unknown) => boolean): void {
  dispatchError = dispatch
}

/** An error that nobody caught: the global `error` event, then the log. */
export function reportError(error: unknown): void {
  if (!dispatchError(error)) host.print('error', `Uncaught ${inspect(error)}`)
}
