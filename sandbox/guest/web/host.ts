import type { HostPort } from './host-port.ts'

const absent = (): never => {
  throw new Error('The host is not connected yet: this works only while a call runs')
}

/** The port to the host. Its slots are filled when a context boots, so nothing here may be used while modules load. */
export const host: HostPort = {
  call: absent,
  print: absent,
  setTimer: absent,
  clearTimer: absent,
  now: absent,
  random: absent,
  env: {},
  serve: null,
}
