export const origin = () => location.origin;
