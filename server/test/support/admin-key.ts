/** The administrator's key of the servers that tests start; in a module of its own, since others load the whole server. */
export const adminKey = "admin_key_of_the_tests_0123456789_0123456789"
