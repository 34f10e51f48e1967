const OPERATION = /^\/data\/(?:public\/)?([^/]+)/

/** The operation that a path is of, or below, if it is of any. */
export const operationOfPath = (path: string): string | undefined => OPERATION.exec(path)?.[1]
