import type { HostCallName } from './host-port.ts'
import { certainCall } from './runtime-calls.ts'
import { HOST_CALL } from './runtime-kinds.ts'
import { emit } from './runtime-output.ts'
import { ErrorClass, PromiseClass, SafeMap } from './runtime-primordials.ts'

const MAX_PENDING = 256

interface PendingCall {
  readonly resolve: (text: string) => void
  readonly reject: (error: Error) => void
}

const pending = new SafeMap<PendingCall>()
let lastId = 0

/** Puts a question to the host; the answer comes in a later entry. */
export function callHost(name: HostCallName, argument: string): Promise<string> {
  return new PromiseClass((resolve, reject) => {
    if (pending.size >= MAX_PENDING) {
      reject(new ErrorClass(`More than ${MAX_PENDING} host calls are pending`))
      return
    }
    lastId += 1
    pending.set(lastId, { resolve, reject })
    emit(`${HOST_CALL},${lastId},${certainCall()}`, name, argument)
  })
}

export function answerHostCall(id: number, ok: boolean, text: string): void {
  const call = pending.get(id)
  if (!call) return
  pending.delete(id)
  if (ok) call.resolve(text)
  else call.reject(new ErrorClass(text))
}
