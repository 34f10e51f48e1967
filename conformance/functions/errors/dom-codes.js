export default () =>
  ['IndexSizeError', 'NotFoundError', 'DataCloneError', 'QuotaExceededError', 'Nope'].map(
    (name) => [name, new DOMException('m', name).code],
  )
