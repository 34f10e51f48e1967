import { host } from './host.ts'

let origin: number | undefined

/** Epoch milliseconds of the first time this context asked for the time. */
export function clockOrigin(): number {
  origin ??= host.now()
  return origin
}

/** Milliseconds since the origin; it stands still while site code runs. */
export function clockNow(): number {
  const start = clockOrigin()
  return host.now() - start
}
