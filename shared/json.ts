/** What goes through JSON and comes back the same. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
