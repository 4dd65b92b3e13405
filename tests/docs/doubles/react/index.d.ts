export function useState<T>(first: T): [T, (next: T) => void];
export function useEffect(effect: () => void, inputs?: unknown[]): void;
