/** What the broker takes for a name: up to 249 letters, digits, dots, underscores and hyphens, and neither `.` nor `..`. */
export const isTopicName = (name: string): boolean => /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/.test(name);
