import { isInteger, jsonStringify, toText } from '#sandbox/guest/web/primordials.ts'

import { cut } from './output.ts'

const MESSAGE_LENGTH = 4096
const STACK_LENGTH = 8192
const CODE_LENGTH = 64

export interface ThrownShape {
  readonly message: string
  readonly stack: string
  /** 0 when there is none. */
  readonly statusCode: number
  readonly code: string
}

/** Reads whatever site code threw. Getters on it are site code too: they run under the entry's time limit. */
export function describeThrown(thrown: unknown): ThrownShape {
  try {
    if (typeof thrown === 'object' && thrown !== null) return describeObject(thrown)
    return { message: cut(toText(thrown), MESSAGE_LENGTH), stack: '', statusCode: 0, code: '' }
  } catch {
    return { message: 'A value that cannot be read was thrown', stack: '', statusCode: 0, code: '' }
  }
}

function describeObject(thrown: object): ThrownShape {
  const { message, stack, statusCode, code } = thrown as Record<string, unknown>
  return {
    message: cut(typeof message === 'string' ? message : describeValue(thrown), MESSAGE_LENGTH),
    stack: typeof stack === 'string' ? cut(stack, STACK_LENGTH) : '',
    statusCode: isStatus(statusCode) ? statusCode : 0,
    code: typeof code === 'string' ? cut(code, CODE_LENGTH) : '',
  }
}

const isStatus = (value: unknown): value is number =>
  isInteger(value) && (value as number) >= 100 && (value as number) <= 599

function describeValue(value: object): string {
  const text = jsonStringify(value)
  return text === undefined ? toText(value) : text
}
