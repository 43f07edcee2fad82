// Lanes in an order of one's own: it is kept as those that stand first, so that whoever moved
// nothing has a short address, and lanes that another boot has beside them keep their places.

interface Keyed { readonly key: string }

/** All lanes, those with these keys first and in their order. */
export function firstOf<T extends Keyed>(lanes: readonly T[], first: readonly string[]): T[] {
  const ahead = first.flatMap((key) => lanes.filter((lane) => lane.key === key));
  return [...ahead, ...lanes.filter((lane) => !ahead.includes(lane))];
}

/** Which keys stand first when this one was put before another, or last. */
export function moved(lanes: readonly Keyed[], first: readonly string[], key: string, before: string | null): string[] {
  const order = firstOf(lanes, first).map((lane) => lane.key).filter((one) => one !== key);
  order.splice(before === null ? order.length : order.indexOf(before), 0, key);
  // As few as need be: behind them the others stand as they always do.
  for (let count = 0; count < order.length; count++) {
    const ahead = order.slice(0, count);
    if (firstOf(lanes, ahead).every((lane, at) => lane.key === order[at])) return ahead;
  }
  return order;
}
