/** A callback for an answer that comes once, maybe at once: a promise would cost as much as the work itself. */
export interface Reply<Answer> {
  answered(answer: Answer): void
  failed(error: unknown): void
}

export function forward<Answer>(answer: Answer | Promise<Answer>, reply: Reply<Answer>): void {
  if (!(answer instanceof Promise)) {
    reply.answered(answer)
    return
  }
  answer.then(
    (made) => reply.answered(made),
    (error: unknown) => reply.failed(error),
  )
}
