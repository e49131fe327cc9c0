"""Who may reach the control room: hosts, origins, logins and tokens; and the headers that keep pages closed."""
