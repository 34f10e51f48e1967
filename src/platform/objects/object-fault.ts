/** Errors of an object that a caller may want to distinguish. A body that is too long is an AppError `PayloadTooLarge`. */
export class ObjectFault extends Error {
  override readonly name = 'ObjectFault'
  readonly code: ObjectFaultCode

  constructor(code: ObjectFaultCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export type ObjectFaultCode =
  /** `ifNoneMatch: '*'` and the key exists. */
  | 'PreconditionFailed'
  /** The range begins behind the object's end. */
  | 'RangeNotSatisfiable'
