/** The harness as one page of HTML. */
export function page(): Promise<string>;
