const TABLE_ARN = /^arn:aws[a-z-]*:dynamodb:[^:/]+:\d{12}:table\/(?<name>[a-zA-Z0-9_.-]{3,255})$/

export const isTableArn = (given: unknown): boolean =>
  typeof given === 'string' && TABLE_ARN.test(given)

/** The name of a table that a request names by itself or by its resource name. */
export const tableNameOf = (given: string): string =>
  TABLE_ARN.exec(given)?.groups?.['name'] ?? given
