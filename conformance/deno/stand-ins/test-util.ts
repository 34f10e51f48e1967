export * from './assert.ts'
export * from './async.ts'
export * from './bytes.ts'

/** Stand in for the helpers of Deno's own tests. What would start a process or a server says that it cannot. */
const refuse = (name: string) => (): never => {
  throw new Error(`"${name}" needs a process or a file system`)
}

export const execCode = refuse('execCode')
export const execCode2 = refuse('execCode2')
export const execCode3 = refuse('execCode3')
export const curlRequest = refuse('curlRequest')
export const curlRequestWithStdErr = refuse('curlRequestWithStdErr')
export const tmpUnixSocketPath = refuse('tmpUnixSocketPath')
export const pathToAbsoluteFileUrl = refuse('pathToAbsoluteFileUrl')
export const isNotWindows = true
export const DENO_FUTURE = true
