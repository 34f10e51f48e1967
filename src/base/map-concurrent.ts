/** Does `work` for several at once and gives the results in the order of the inputs; the next is begun when the first is done. */
export async function* mapConcurrent<Input, Output>(
  inputs: AsyncIterable<Input> | Iterable<Input>,
  count: number,
  work: (input: Input) => Promise<Output>,
): AsyncGenerator<Output> {
  const running: Promise<Output>[] = []
  try {
    for await (const input of inputs) {
      const next = work(input)
      // It is waited for below, and may fail before its turn.
      next.catch(() => {})
      running.push(next)
      const first = running.length >= count ? running.shift() : undefined
      if (first !== undefined) yield await first
    }
    for (let first = running.shift(); first !== undefined; first = running.shift())
      yield await first
  } finally {
    await Promise.allSettled(running)
  }
}
