int cmd_ldpc_lifetime(int argc, char **argv);
int cmd_ldpc_lifetime(int argc, char **argv) { (void)argc; (void)argv; return 2; }
