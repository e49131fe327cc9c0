"""What is shipped beside the code: ``o200k_base.tiktoken.gz``, the tokens of o200k_base as OpenAI gives them out."""
