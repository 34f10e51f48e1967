/** Who waits for something that is told once, maybe at once: a promise would cost as much as what it is about. */
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
