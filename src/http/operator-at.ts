import type { OperatorActor } from '#base/actor.ts'
import { originOf } from '#http/request-origin.ts'

export const operatorAt = (request: Request): OperatorActor => ({
  type: 'operator',
  origin: originOf(request),
})
